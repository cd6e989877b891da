from dalenius.atoms.information import concave_entropy as concave_entropy
from dalenius.atoms.information import information_of_prior as information_of_prior
from dalenius.atoms.information import leakage as leakage
from dalenius.atoms.information import letter_masses as letter_masses
from dalenius.atoms.information import mutual_information as mutual_information
from dalenius.atoms.limits import entropy_at_least as entropy_at_least
from dalenius.atoms.limits import expected_cost as expected_cost
from dalenius.atoms.limits import expected_distortion as expected_distortion
