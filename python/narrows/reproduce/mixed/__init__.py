"""Impact of TCP BBR on CUBIC traffic: large flows beside successive small ones (Haile, 2018)."""
