"""The slides on BBR at IETF 98 (Cardwell et al., March 2017)."""
