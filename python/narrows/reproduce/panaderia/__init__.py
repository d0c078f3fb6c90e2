"""Sharing but not Caring (Claypool et al., AICT 2019): BBR and CUBIC on Raspberry Pis."""
