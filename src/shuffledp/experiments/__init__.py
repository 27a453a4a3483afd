"""Every figure and table of the four papers, computed anew."""
