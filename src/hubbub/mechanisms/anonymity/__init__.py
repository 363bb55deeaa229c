"""What was done to search logs before differential privacy, to be compared and to be attacked.

    k_query     queries asked by fewer than k users dropped, one number per session    (Adar 2007)
    k_session   keywords added or deleted until k sessions are equal                   (Motwani and Nabar 2008)
    k_keyword   keywords shortened to prefixes that k users share                      (He and Naughton 2009)
    k_click     clicks of more than k users                                            (KA of Zhang and Yang 2017)
    pseudonyms  fresh numbers for users, everything else as it is                      (the AOL release)
    token_hash  every word replaced by a keyed hash                                    (Kumar et al. 2007)
    secret_sharing  queries encrypted, opened by the shares of k users                 (Adar 2007)
    k_vocabulary    users as bags of words, that of their cluster                      (Liu and Wang 2010)
    k_core          queries that k users asked, or something like them                 (Carpineto and Romano 2013)
    k_similar       queries added and suppressed until k users are similar             (Hong et al. 2009)
    groups      users in groups of k by what they have in common
    verify      the k-property, checked on what came out by other code

None of them limits or hides any one user: all need `--not-private`. `hubbub attack` shows why.
"""

from hubbub.mechanisms.anonymity.base import Anonymity
from hubbub.mechanisms.anonymity.k_click import KClick
from hubbub.mechanisms.anonymity.k_core import KCore
from hubbub.mechanisms.anonymity.k_keyword import KKeyword
from hubbub.mechanisms.anonymity.k_query import KQuery
from hubbub.mechanisms.anonymity.k_session import KSession
from hubbub.mechanisms.anonymity.k_similar import KSimilar
from hubbub.mechanisms.anonymity.k_vocabulary import KVocabulary
from hubbub.mechanisms.anonymity.pseudonyms import Pseudonyms
from hubbub.mechanisms.anonymity.secret_sharing import SecretSharing
from hubbub.mechanisms.anonymity.token_hash import TokenHash

__all__ = [
    "Anonymity",
    "KClick",
    "KCore",
    "KKeyword",
    "KQuery",
    "KSession",
    "KSimilar",
    "KVocabulary",
    "Pseudonyms",
    "SecretSharing",
    "TokenHash",
]
