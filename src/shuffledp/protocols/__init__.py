"""From people's values to estimates, with the guarantee of the code that ran."""
