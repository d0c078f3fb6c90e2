"""The reproduction of the BBR paper for CS 244 (Girardeau and Steele, 2017)."""
