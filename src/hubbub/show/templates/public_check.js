// ε and δ once more, in the reader's browser, from the steps on the card: formulas of the proof pages written down here,
// not hubbub's own code. It shows that the claim follows from the steps; that the steps are what ran it cannot show.

const claimed = JSON.parse(document.getElementById("claimed").textContent);
const AGREE = 1e-6; // the card rounds up in the eighth digit; ordinary floating point loses less than that
const digits = (x) => (x === 0 ? "0" : x >= 1e-3 && x < 1e6 ? String(+x.toPrecision(9)) : x.toExponential(8));
const fraction = (text) => { const [over, under = "1"] = text.split("/"); return Number(over) / Number(under); };
const add = (numbers) => numbers.reduce((sum, x) => sum + x, 0);

// ---------------------------------------------------------------- the normal law's tail

// P(N(0, 1) > x): a power series in the middle, a continued fraction outside.
const tail = (x) => {
  if (x < 0) return 1 - tail(-x);
  const density = Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
  if (x < 3) {
    let [term, sum] = [x, x];
    for (let n = 3; Math.abs(term) > 1e-18; n += 2) sum += term *= (x * x) / n;
    return 0.5 - density * sum;
  }
  let below = x;
  for (let n = 200; n > 0; n--) below = x + n / below;
  return density / below;
};
// δ at ε of Gaussian noise that one user moves by μ standard deviations.
const ofNoise = (epsilon, mu) =>
  mu === 0 ? 0 : tail(epsilon / mu - mu / 2) - Math.exp(epsilon) * tail(epsilon / mu + mu / 2);

// ---------------------------------------------------------------- Laplace steps: ε and δ add up

// The chance that a count passes the threshold with discrete Laplace noise of this scale.
const passes = (scale, threshold, count) => {
  const a = Math.exp(-1 / scale);
  return count < threshold ? a ** (threshold - count) / (1 + a) : 1 - a ** (count - threshold + 1) / (1 + a);
};
// The largest chance that any of one user's own keys shows, over all ways to spread what she may contribute.
const shows = ({ scale, threshold, sensitivity: { l0, l1, linf } }) => {
  if (threshold === null) return 0;
  const chance = (count) => passes(fraction(scale), threshold, count);
  let worst = 0;
  for (let keys = 1; keys <= Math.min(l0, l1); keys++) {
    const counts = Array(keys).fill(1);
    let left = l1 - keys;
    for (let n = 0; n < keys; n++) { const more = Math.min(left, linf - 1); counts[n] += more; left -= more; }
    worst = Math.max(worst, -Math.expm1(add(counts.map((count) => Math.log1p(-chance(count))))));
  }
  return worst;
};
const laplace = (steps) => {
  const lines = steps.map((step) => ({
    name: step.name,
    epsilon: step.sensitivity.l1 / fraction(step.scale),
    delta: shows(step),
  }));
  return {
    epsilon: add(lines.map((line) => line.epsilon)),
    delta: add(lines.map((line) => line.delta)),
    lines: lines.map((line) => `${line.name}: ε = ${digits(line.epsilon)}, δ = ${digits(line.delta)}`),
  };
};

// ---------------------------------------------------------------- Gaussian steps: one conversion at the card's ε

const novel = (step, t) => add(step.law.tests.map(([mean, variance, level]) =>
  tail((level - (step.law.shrinking ? Math.floor(mean / Math.sqrt(t)) + 1 : mean) - 0.5) / Math.sqrt(variance))));
const gaussian = (steps, epsilon) => {
  const mu2 = add(steps.flatMap((step) => step.law.mu2.map(fraction)));
  const first = steps.find((step) => step.law.tightened);
  const open = steps.filter((step) => step.law.tests.length && step !== first);
  const later = add(open.map((step) => step.sensitivity.l0 * novel(step, 1)));
  let [worst, at] = [ofNoise(epsilon, Math.sqrt(mu2)), 0];
  for (let t = 1; first && t <= first.sensitivity.l0; t++) {
    const left = Math.max(0, mu2 - (fraction(first.law.mu2[0]) * t) / first.sensitivity.l0);
    const delta = ofNoise(epsilon, Math.sqrt(left)) + t * novel(first, t);
    if (delta > worst) [worst, at] = [delta, t];
  }
  return {
    epsilon,
    delta: worst + later,
    lines: [
      `μ² of all ${steps.length === 1 ? "noise" : `${steps.length} steps`} = ${digits(mu2)}`,
      `${first ? `${first.name}, worst case ${at} of ${first.sensitivity.l0} keys a user's own: ` : ""}δ = ${digits(worst)}`,
      ...open.map((step) => `${step.name}: ${step.sensitivity.l0} keys at most, each shows with chance ${digits(novel(step, 1))}`),
    ],
  };
};

// ---------------------------------------------------------------- what it comes to

const recomputed = () => {
  const kinds = new Set(claimed.steps.map((step) => step.noise));
  if (kinds.size !== 1) return null;
  if (kinds.has("discrete-laplace") && claimed.steps.every((step) => step.sensitivity.linf)) return laplace(claimed.steps);
  if (kinds.has("discrete-gaussian") && claimed.epsilon < 700) return gaussian(claimed.steps, claimed.epsilon);
  return null;
};
const report = document.getElementById("recomputed");
if (report) {
  const ours = recomputed();
  const near = (a, b) => a <= b * (1 + AGREE) && b <= a * (1 + AGREE) + 1e-300;
  if (!ours) {
    make("p", report, {}, "This page has no formula of its own for these steps. `hubbub card . --check` has.");
  } else {
    const agrees = near(ours.epsilon, claimed.epsilon) && near(ours.delta, claimed.delta);
    const verdict = agrees ? "Your browser agrees" : "YOUR BROWSER DOES NOT AGREE: do not trust this page";
    make("p", report, { class: agrees ? "agrees" : "remark" }, `${verdict}. It computed ε = ${digits(ours.epsilon)}, δ = ${digits(ours.delta)}; the card says ε = ${digits(claimed.epsilon)}, δ = ${digits(claimed.delta)}.`);
    const list = make("ul", report);
    for (const line of ours.lines) make("li", list, {}, line);
  }
}
