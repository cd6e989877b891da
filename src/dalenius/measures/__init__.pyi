from dalenius.measures.answer import Measure as Measure
from dalenius.measures.answer import Measures as Measures
from dalenius.measures.answer import PrivacyClaim as PrivacyClaim
