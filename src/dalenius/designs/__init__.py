"""Problems 2 and 3: designs by exchange, and by linear programs where there is no adversary."""
