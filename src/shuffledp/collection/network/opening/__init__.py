"""The analyst: from what a shuffler released to a release.

analyst            status, close and fetch: the analyst at the shuffler's door
opening_tasks      a slice of a sealed file -> sums, in whichever process
opening_processes  slices on all cores of this machine
opening_on_spark   slices on the workers of Spark
opened_file        which sealed file of a collection was opened: no other one is
search_levels      a search for frequent words: level after level, each a collection of its own
opening_reports    what the shuffler released -> a release
"""
