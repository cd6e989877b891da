from dalenius.information.entropies import above_tangent as above_tangent
from dalenius.information.entropies import binary_entropy as binary_entropy
from dalenius.information.entropies import entropy as entropy
from dalenius.information.entropies import log_sum_exp as log_sum_exp
from dalenius.information.entropies import mutual_information as mutual_information
from dalenius.information.entropies import relative_entropy as relative_entropy
from dalenius.information.entropies import x_log_x as x_log_x
