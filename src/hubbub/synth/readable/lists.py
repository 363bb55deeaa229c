"""Words of our own for a made-up town: what its people look for, grouped by what a query does with them.

Written for hubbub, not taken from any list; no word is a trade name or bears a person's name in the first place. A word
belongs to one group only (a later group leaves out what an earlier one has), because the first word of a query says how
it is to be read.
"""

from __future__ import annotations

from dataclasses import dataclass

from hubbub.synth.vocabulary import COMMON, FUNCTION_WORDS, TOPICS

NEEDS = {
    "autos": "parking garage scooter bicycle engine motorbike trailer mechanic tractor headlight windscreen caravan",
    "games": "crossword puzzle chess sudoku jigsaw quiz domino riddle checkers hangman solitaire yoyo",
    "health": "pharmacy dentist vitamin optician allergy yoga headache vaccine bandage massage sunscreen",
    "home": "recipe curtain mattress wallpaper lamp sofa cushion carpet blanket bookshelf dishwasher teapot",
    "jobs": "vacancy internship resume plumber carpenter gardener electrician librarian baker tailor welder waiter",
    "kids": "playground toy babysitter fairytale nursery rhyme puppet sandpit costume kindergarten lullaby stroller",
    "local": "library lighthouse harbour allotment marketplace bandstand lido footpath ferry windmill pier",
    "money": "savings pension calculator coupon currency voucher invoice budgeting banknote wallet discount receipt",
    "movies": "cinema cartoon documentary matinee western comedy screenplay filmmaker premiere projector",
    "music": "lyric piano guitar choir trumpet ukulele concert orchestra violin drum clarinet karaoke",
    "news": "weather headline newspaper forecast rainfall sunrise magazine bulletin almanac editorial crosswind",
    "people": "genealogy ancestor volunteer neighbour biography penfriend newcomer surname pensioner apprentice",
    "school": "dictionary spelling homework grammar thesaurus algebra calendar textbook timetable alphabet atlas essay",
    "shops": "bookshop bakery florist greengrocer jewellery lantern teashop haberdashery umbrella backpack "
    "raincoat kettle",
    "sports": "football swimming marathon tennis badminton fishing hiking rowing archery cricket volleyball canoe",
    "travel": "museum campsite hotel hostel passport suitcase festival castle aquarium waterfall lagoon viewpoint",
}
"""What most people look for, by topic, the most popular first."""

WORDS = {
    "autos": "car bus road repair tyre driving licence tour drive fuel wheel engine van lorry motor traffic bike "
    "insurance",
    "games": "game board card cards play rules cheats solver level team winner dice fun arcade prize star magic quest",
    "health": "health doctor clinic nurse exercise sleep diet teeth skin symptoms cough fever test care eye back "
    "vitamins walk",
    "home": "house kitchen bathroom paint wood garden furniture bed table window door floor light heating roof "
    "plants tree cake",
    "jobs": "job work training office apprenticeship interview letter wages hours salary part time skills "
    "contract shift trade career team",
    "kids": "children baby school party colouring book story names doll birthday craft songs pictures animals "
    "puppy kitten ideas swing",
    "local": "town council park street bridge market hall map north south station square river office opening lane "
    "road county",
    "money": "money bank tax rates account bill price cost loan cheap gold coin stock rent deposit fees pay help",
    "movies": "film films movie series episode cast tickets scene trailer review new best old classic actor stage "
    "show animation",
    "music": "music song songs band lessons sheet chords dance radio festival bass folk jazz opera notes choir "
    "singing album",
    "news": "news today paper storm rain snow temperature wind moon election vote report flood winter summer "
    "spring autumn",
    "people": "family history records birth wedding friends club meeting letters address phone quotes poem love "
    "speech thank anniversary group",
    "school": "college university exam course english science history maths test answers lesson class term holiday "
    "reading words facts study",
    "shops": "shop sale shoes dress hat gift gifts flowers bread tea coffee chocolate silver lamp box bag second hand",
    "sports": "sport team match score results league ball running race pool cup coach golf skating ski gym horse boat",
    "travel": "travel train ferry flight island beach lake mountain camping trip hotels cottage sea coast guide "
    "cheap weekend route",
}
"""The words that questions are made of, by topic, the most frequent first."""

PAIRED = """
    garden music kitchen wedding weather bus train school church village town city county river beach summer winter
    christmas easter holiday birthday baby dog cat horse bird fish tree flower fruit vegetable bread cheese chicken soup
    coffee tea wine water fire stone glass wood metal paper silver diamond leather cotton wool sewing knitting quilt
    painting drawing photo picture poster card gift toy doll teddy bear train paint craft science space solar moon star
    animal farm zoo wildlife forest national mountain hill country island boat sailing fishing swimming running walking
    cycling bike car truck driving road travel camping hotel cottage cabin apartment house home office desk computer
    laptop printer camera phone radio film movie theatre dance ballet jazz rock folk guitar violin drum song book story
    poem poetry reading writing english french spanish german history family birth health heart dental skin hair
    exercise fitness yoga diet recipe cake chocolate ice lemon pumpkin potato tomato pasta pizza rice football
    baseball tennis golf soccer hockey ski snow rain wind storm estate student teacher college university exam
"""
"""First words of known pairs: whatever the public list of pairs has after them."""

FOLLOWING = """
    accessories accommodation activities agency agent agents albums area areas audio bags bands bar basket basketball
    baskets batteries battery boards bottle bottles boxes break breeds building buildings business button campus case
    center centers centre centres certificate certificates chips classes climbing clip clips clubs collection community
    company computers conditions conservation construction contact courses cover credit curriculum day days deals decor
    decorating degree delivery department departments design destination directory distance documents doors download
    downloads driver drivers edition education electronics energy entertainment equipment experience experts facilities
    farms features festivals finance food forests form frame frames front galleries games garden glasses groups
    growth guides habitat holder homes hosting improvement income index industry information instruction issues jobs
    juice land language leaders level levels libraries life lines links listings literacy lovers lyrics machine machines
    maintenance maker makers management manager manufacturers members merchant model models months music network night
    numbers offers oil opportunity orders organization owners package packages parks parts people performance planning
    plans plate player players power practice preview prices print printing product production products professor
    profile program programs progress project property protection providers quality rack rafting range recipe recipes
    registry rental rentals reports research residents resort resources ride ring rings room safety salad sales samples
    schools search season seat seats security service services session shopping shops shows size skiing software species
    speed staff standards stations storage store stores structure students style supplies support system systems tank
    teachers technology text theater times titles topics tracks trailers translation trees trip vacation vegetables
    vehicle version video videos walls workers world
"""
"""What may follow in a known pair, besides the words of NEEDS, WORDS, PAIRED and HOUSES: the web has others."""

LOOSE = """
    riverside lakeside hillside parkside seaside bayside brookside woodside downtown uptown midtown northside southside
    eastside westside waterfront dockside roadside oldest newest cheapest nearest favourite famous historic forgotten
    neighbourhood community municipal regional rural northern southern eastern western inland offshore upstairs
    downstairs underground secondhand homemade handmade vintage antique portable electric wooden inflatable waterproof
    miniature giant tiny purple turquoise crimson striped spotted rainbow tartan midnight morning afternoon sunday
    saturday friday thursday tuesday wednesday january february april september october november december weekly
    fortnightly yearly nightly seasonal indoor outdoor rooftop beginner advanced retired toddler volunteer
    barefoot silent haunted hidden floating mobile travelling overnight candlelit wheelchair
"""
"""First words of pairs that the public list does not have."""

ABOUT = """
    types pictures photos examples causes benefits uses parts kinds lists meaning origin symbols signs stages rules
    names facts effects advantages care maps list art language world origins colours shades patterns samples varieties
"""
"""First words of `… of …`."""

OFFERED = """
    affordable assorted authentic basic beaded braided bright bulk bulky calm camouflage canvas cardboard
    casual certified charcoal chequered chilled chunky citrus classical clever cloudy coastal cobalt colourful compact
    complete contemporary cosy countryside creamy creative crispy crunchy curly custom dainty decorative delicious
    deluxe detachable disposable distant domed double dusty easy edible elastic elegant embossed empty enormous
    everyday exotic extra fabric faded fancy favourite feathered felt festive fine fitted flat flexible floating floral
    fluffy foldable foreign formal fragrant framed fresh fringed frosted fuzzy gentle genuine gilded glossy glowing
    golden graceful grand granite hanging hardwearing healthy heated herbal hollow humble iced illustrated imported
    insulated international jolly jumbo knitted lacquered laminated large lavender layered leafy lifelike light limited
    local long lovely low luxurious marble marbled mature mechanical mellow metallic mild minty mixed modern mossy
    muddy musical narrow native neat nordic novelty oval padded pale panelled paperback patchwork pearl perfumed
    personal pine plain plastic pleated plush polished popular practical precious pressed printed professional quaint
    quick quiet quilted rare recycled reusable reversible rich round rubber rugged rural rustic sandy scented seaside
    selfmade sensible shallow shiny short silky simple sleek slender slim small smooth snug soft solid spiral square
    stackable stained steel sticky straight strong sturdy subtle sunny swinging tall tapered tasty thick thin tidy
    traditional transparent triangular tropical unbreakable unusual upright useful wavy weatherproof whimsical wicker
    wide wild woollen
"""
"""First words of a small offer: an adjective, then any word."""

PLACES = """
    acorn alder almond amber anchor apricot arbour ash aspen badger barley bay beacon beech birch blackbird
    blossom bluebell bracken bramble briar bulrush buttercup cedar chalk cherry chestnut clover cobble coral cormorant
    cowslip crane crescent crocus curlew cypress daffodil daisy damson dandelion dolphin dragonfly drake driftwood eagle
    elder elm falcon fallow fennel fern ferret finch firefly foxglove gorse goldfinch goose gull hare harvest hawthorn
    hazel heather hedgehog heron hollow holly honeysuckle hornbeam ivy jackdaw jasmine juniper kestrel kingfisher
    ladybird larch lark laurel lichen lilac lime linden linnet lobster lupin magnolia magpie mallard maple marigold
    meadow medlar mistletoe mole moorhen mulberry mussel myrtle nettle newt nightingale nutmeg oak oat olive orchid
    osprey otter owl oyster pansy partridge peacock pear pebble pelican peony periwinkle pheasant pigeon pinecone plover
    plum poplar poppy primrose puffin quail quartz quince rabbit raspberry raven redwing reed robinia rook rosemary
    rowan rush rye saffron salmon sandpiper seagull seal shepherd shingle shrew skylark sloe snipe snowdrop sorrel
    sparrow spruce squirrel starling stork strawberry sunflower swallow swan sycamore tansy teasel tern thistle thrush
    thyme toad trout tulip turnstone vine violet wagtail walnut warbler weasel wheat whitebeam wisteria wolf woodpecker
    wren yarrow yew zinnia
"""
LANDMARKS = """
    abbey acre alley arch avenue bank barn basin beck bend bluff bottom boulevard bower bridge brow burn causeway cliff
    close cloister common copse corner cottage court cove croft cross crossing crossroads dell ditch dock down drive
    end estuary farm fell field fold ford forge gap garden gate glade glen grange green grotto grove gully hall
    harbour head heath heights highway hill hillside hollow hurst inlet island junction keep knoll lake lane lawn ledge
    lock lodge lookout manor marina marsh mead mews mill moat moor mound nook oasis orchard paddock parade park pass
    passage pasture path patch peak pit place plain point pond priory quarry quay ravine reach ridge rise river road
    rock row run sands shore slope spinney spring square stables steps strand stream street summit terrace top tower
    track vale valley view village villas vineyard wall ward warren water way weir well wharf wood yard
"""
HOUSES = """
    academy airfield allotments arcade archive association bakehouse bakery bandroom bank barbers bicycles boathouse
    books bookshop bowls brewery builders butcher cabins cafe canteen caravans carpentry carpets catering ceramics
    chapel charity chess choir cinema clinic clockmaker club college cooperative cottages council courts cricket
    crafts creche cycles dairy dance daycare deli dental dentist diner drama dressmaker electrical engineers fabrics
    fair farmshop fencing ferries festival fireworks fishmonger fitness florist flowers foodbank football forum fruit
    furniture gallery garage gardeners gardens gifts glass golf greenhouses grocer guesthouse gymnasium hairdresser
    hardware hatters herbs holidays honey hospital hostel hotel housing icecream infants inn instruments interiors
    ironworks jewellers joinery joiners kennels kitchens ladders laundry leather leisure library lighting locksmith
    luggage lunches market masonry mechanics medical motors museum music nursery nurses observatory opticians orchestra
    outfitters pantry parish parking patisserie pets pharmacy photographers pianos plants playgroup plumbers plumbing
    pool post potters pottery preschool press primary printers pub quilters radio railway rambling recycling removals
    repairs rescue restaurant riding roofing rowing rugby sailing scaffolding scouts seeds shelter shoes signs skating
    soap society stationers stonemasons studio supplies surgery swimmers tailors taxis tearoom tennis theatre tiles
    timber tools toys trust tyres upholstery vets volunteers wardens watches weavers windows workshop yoga
"""
"""A small address is a place, a landmark and a house: `heron bridge bakery`."""

ADDED = """
    online today tomorrow local prices reviews ideas tips pictures list guide video weekend evening morning repair
    delivery rental nearby price_list second_hand step_by_step for_beginners for_children for_families
    for_students for_seniors for_sale for_hire for_free near_me near_here in_town in_winter in_summer in_spring
    in_autumn in_english in_stock next_week next_month next_door this_week this_weekend with_pictures with_instructions
    with_delivery by_post by_train by_bus by_hand at_home at_night on_sunday on_saturday to_rent to_print
    without_sugar without_tools made_easy made_simple
"""
"""What people add when they ask again; a blank is written as _. No addition begins with another one."""

EXTRA = """
    directions history phone events tickets jobs photos staff rules parking membership newsletter timetable classes
    quiz stories drawing song poster shelf window lamp basket ribbon museum festival workshop song_words
    opening_hours gift_card
"""
"""What stands in other wordings and in the place of some typing errors; none is in ADDED."""


@dataclass(frozen=True)
class OwnWords:
    """The lists of a language; `between` stands in `types of castles`."""

    needs: tuple[tuple[str, ...], ...]  # by topic, in the order of TOPICS
    words: tuple[tuple[str, ...], ...]
    paired: tuple[str, ...]
    loose: tuple[str, ...]
    about: tuple[str, ...]
    offered: tuple[str, ...]
    places: tuple[str, ...]
    landmarks: tuple[str, ...]
    houses: tuple[str, ...]
    added: tuple[str, ...]
    extra: tuple[str, ...]
    following: frozenset[str]
    between: str = "of"
    function: tuple[str, ...] = COMMON[:FUNCTION_WORDS]
    plain: tuple[str, ...] = ("address", "club", "page", "shop", "house")  # what fills the wordings of a need up


def english_lists() -> OwnWords:
    """Our own lists of English."""
    return OwnWords(
        needs=_by_topic(NEEDS),
        words=_by_topic(WORDS),
        paired=_words(PAIRED),
        loose=_words(LOOSE),
        about=_words(ABOUT),
        offered=_words(OFFERED),
        places=_words(PLACES),
        landmarks=_words(LANDMARKS),
        houses=_words(HOUSES),
        added=_words(ADDED),
        extra=_words(EXTRA),
        following=frozenset(_words(" ".join((FOLLOWING, *NEEDS.values(), *WORDS.values(), PAIRED, HOUSES)))),
    )


def _by_topic(groups: dict[str, str]) -> tuple[tuple[str, ...], ...]:
    """The words of each topic; a word is of the first topic that has it."""
    first = {word: topic for topic in reversed(TOPICS) for word in groups[topic].split()}
    return tuple(tuple(word for word in _words(groups[topic]) if first[word] == topic) for topic in TOPICS)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.replace("_", " ") for word in dict.fromkeys(text.split()))
