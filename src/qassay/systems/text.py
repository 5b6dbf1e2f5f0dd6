"""Words and sentences: what the reference systems see of a text, and the word lists behind their patterns."""

from __future__ import annotations

import re
from functools import lru_cache

from qassay.collections import search
from qassay.collections.documents import sentence_spans
from qassay.display import one_line

_WORD = re.compile(r"[^\W_]+")

# Words that say nothing about the subject of a question: those of a search, and words that many sentences share.
_COMMON = """
    again among another became become below came come done ever every first further gave get give given go got himself
    last later made make may named near new now others said say see since still take themselves thing things time two
    upon use used very way well went within without year years
"""
STOP_WORDS = search.STOP_WORDS.union(_COMMON.split())
_SUFFIXES = ("ations", "ation", "ments", "ment", "ings", "ing", "ies", "ied", "ers", "ed", "er", "es", "ly", "s", "e")


def words(text: str) -> list[str]:
    """The words of a text, lower-cased: runs of letters and digits.

    >>> words("Nansen's ship, the Fram (1893)")
    ['nansen', 's', 'ship', 'the', 'fram', '1893']
    """
    return _WORD.findall(text.lower())


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """A word without its common endings, so that forms of one word meet. Crude on purpose: it only serves to match.

    >>> [stem(word) for word in ("designed", "designer", "designs", "states", "cities", "city")]
    ['design', 'design', 'design', 'stat', 'cit', 'cit']
    """
    if word.isdigit() or len(word) < 4:
        return word
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word.removesuffix(suffix)
            break
    return word.removesuffix("y") if len(word) > 3 else word


def content_words(text: str) -> list[str]:
    """The words of a text that are not stop words, each once, in order."""
    return list(dict.fromkeys(word for word in words(text) if word not in STOP_WORDS and len(word) > 1))


def overlap(first: frozenset[str], second: frozenset[str]) -> float:
    """Shared words over the words of the shorter text; 0 where one has no words.

    >>> overlap(frozenset("abcd"), frozenset("abx"))
    0.6666666666666666
    """
    shorter = min(len(first), len(second))
    return len(first & second) / shorter if shorter else 0.0


def sentences(text: str) -> list[str]:
    """The sentences of a text, each as one line.

    >>> sentences("It met Dr. Smith\\nin Oslo. Then it\\nleft.")
    ['It met Dr. Smith in Oslo.', 'Then it left.']
    """
    return [one_line(text[begin:end]) for begin, end in sentence_spans(text)]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _listed(text: str) -> frozenset[str]:
    return frozenset(" ".join(part.split()) for part in text.split(","))


PERSONS = _words("""
    person people man men woman women boy girl child children member members leader leaders founder founders president
    king queen emperor empress prince princess duke earl pope bishop priest saint general colonel captain commander
    admiral officer soldier soldiers pilot astronaut astronauts cosmonaut crew minister chancellor senator governor
    mayor judge lawyer diplomat ambassador secretary director directors chairman chief head owner manager businessman
    businessmen engineer engineers architect designer inventor inventors scientist scientists physicist physicists
    chemist mathematician astronomer biologist geologist physician physicians doctor doctors nurse surgeon teacher
    professor student librarian historian philosopher explorer explorers traveller sailor navigator shipbuilder writer
    author authors poet novelist playwright journalist journalists editor critic painter artist sculptor photographer
    composer musician musicians singer tenor soprano actor actors actress dancer conductor player players athlete
    runner swimmer boxer coach champion winner winners victim victims passenger passengers survivor survivors
    companion companions partner husband wife widow father mother parents son sons daughter daughters brother brothers
    sister sisters uncle aunt cousin friend killer murderer assassin guide pacifist operator lookout logician
    economist translator discoverer politician officers governess empresses pianist guitarist
""")
PLACES = _words("""
    place city cities town towns village villages country countries nation nations state states province county region
    district continent capital island islands river rivers lake lakes sea seas ocean oceans mountain mountains hill
    volcano desert valley bay port harbour harbor street avenue square park planet estate location site birthplace
    hometown republic kingdom empire territory
""")
ORGANISATIONS = _words("""
    company companies firm corporation organisation organization organisations organizations institution institutions
    institute university universities college school schools museum museums bank newspaper magazine publisher party team
    club band orchestra agency committee council society societies association union league church hospital laboratory
    government ministry department airline manufacturer network employer court authority
""")
# Tokens that mark a capitalised name as that of an organisation or a place, whatever comes before it.
ORGANISATION_HEADS = _words("""
    University Institute Institution Museum Committee Company Society League Bank Agency Union Party Council Corps
    Department School College Hospital Club Line Lines Authority Fund Office Association Foundation Federation Congress
    Senate Parliament Ministry Commission Corporation Corp Inc Ltd Laboratory Laboratories Center Centre Academy Army
    Navy Orchestra Observatory Conference Assembly Nations Church Library Exposition Railway Airlines Press Organization
    Organisation Administration Bureau Court Trust Group
""")
PLACE_HEADS = _words("""
    Sea Lake River Mount Mountain Mountains Island Islands Cape Bay City Street Avenue Park Ocean Canal Land Desert
    Valley County Port Point Square Bridge Alps Peninsula Coast Hill Hills Creek Road Strait Gulf Empire Kingdom
    Republic Falls Beach Nebula North South East West Hotel House Fault
""")
TITLES = _words("""
    President Captain General Colonel Major Lieutenant Admiral Brigadier Mayor Senator Governor Prime Minister Professor
    Doctor Dr Mr Mrs Ms Miss Chancellor Secretary Judge Father Sister Brother Cardinal Bishop Ambassador Detective
""")
NOBLE = _words("King Queen Lord Lady Sir Saint St Pope Prince Princess Emperor Empress Earl Count Countess Duke Pasha")
MONTHS = _words("January February March April May June July August September October November December")
DAYS = _words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
DEMONYMS = _words("""
    African American Americans Arab Arabs Argentine Asian Australian Austrian Belgian Brazilian British Bulgarian
    Canadian Chilean Chinese Cuban Czech Danish Dutch Egyptian English European Europeans Finnish French German Germans
    Greek Hungarian Indian Indonesian Iranian Iraqi Irish Israeli Italian Jamaican Japanese Jewish Jews Kenyan Korean
    Latin Mexican Moroccan Muslim Nigerian Norwegian Pakistani Persian Peruvian Polish Portuguese Roman Romanian Russian
    Sardinian Scottish Serbian Soviet Spanish Swede Swedish Swiss Thai Turkish Ukrainian Vietnamese Welsh Christian
    Catholic Protestant Islamic Ottoman Sami
""")
COUNTRIES = _listed("""
    Afghanistan, Albania, Algeria, Andorra, Angola, Argentina, Armenia, Australia, Austria, Azerbaijan, Bahamas,
    Bahrain, Bangladesh, Barbados, Belarus, Belgium, Belize, Benin, Bhutan, Bolivia, Bosnia, Botswana, Brazil, Britain,
    Brunei, Bulgaria, Burma, Burundi, Cambodia, Cameroon, Canada, Chad, Chile, China, Colombia, Congo, Costa Rica,
    Croatia, Cuba, Cyprus, Czech Republic, Czechoslovakia, Denmark, Djibouti, Dominican Republic, East Germany, Ecuador,
    Egypt, El Salvador, England, Eritrea, Estonia, Ethiopia, Federal Republic of Germany, Fiji, Finland, France, Gabon,
    Gambia, Georgia, Germany, Ghana, Great Britain, Greece, Grenada, Guatemala, Guinea, Guyana, Haiti, Honduras,
    Hungary, Iceland, India, Indonesia, Iran, Iraq, Ireland, Israel, Italy, Ivory Coast, Jamaica, Japan, Jordan,
    Kazakhstan, Kenya, Kosovo, Kuwait, Laos, Latvia, Lebanon, Lesotho, Liberia, Libya, Liechtenstein, Lithuania,
    Luxembourg, Macedonia, Madagascar, Malawi, Malaysia, Mali, Malta, Mauritania, Mauritius, Mexico, Moldova, Monaco,
    Mongolia, Montenegro, Morocco, Mozambique, Myanmar, Namibia, Nepal, Netherlands, New Zealand, Nicaragua, Niger,
    Nigeria, North Korea, Northern Ireland, Norway, Oman, Ottoman Empire, Pakistan, Palestine, Panama, Paraguay, Peru,
    Philippines, Poland, Portugal, Qatar, Romania, Russia, Russian Empire, Rwanda, Saudi Arabia, Scotland, Senegal,
    Serbia, Sierra Leone, Singapore, Slovakia, Slovenia, Somalia, South Africa, South Korea, Soviet Union, Spain,
    Sri Lanka, Sudan, Suriname, Sweden, Switzerland, Syria, Taiwan, Tanzania, Thailand, Togo, Tunisia, Turkey, Uganda,
    Ukraine, United Arab Emirates, United Kingdom, United States, Uruguay, Uzbekistan, Venezuela, Vietnam, Wales,
    West Germany, Yemen, Yugoslavia, Zaire, Zambia, Zimbabwe
""")
CONTINENTS = _words("Africa Antarctica Asia Europe America Oceania Siberia Greenland Arctic Atlantic Pacific")

UNITS = {
    unit: dimension
    for dimension, units in {
        "length": """
            kilometres kilometers kilometre kilometer km metres meters metre meter m centimetres centimeters cm
            millimetres millimeters mm micrometres miles mile yards yard feet foot inches inch fathoms light-years ft
        """,
        "mass": """
            kilograms kilogram kilogrammes kg grams gram tonnes tonne tons ton pounds pound ounces ounce carats lbs
        """,
        "duration": """
            seconds second minutes minute hours hour days day weeks week months month years year decades decade
            centuries century nights
        """,
        "volume": "litres liters litre liter gallons gallon barrels barrel pints bushels",
        "speed": "km/h mph knots kilometres-per-hour miles-per-hour",
        "temperature": "degrees kelvin Celsius Fahrenheit",
        "area": "hectares hectare acres acre",
    }.items()
    for unit in units.split()
}
CURRENCIES = _words("""
    dollars dollar pounds pound francs franc marks mark euros euro cents yen rubles roubles lire lira pesos rupees
    crowns kroner guilders shillings pence
""")
