"""The stages of first_light.sh, one file each."""
