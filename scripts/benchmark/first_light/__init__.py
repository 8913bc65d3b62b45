"""The stages of first_light.sh, a file each."""
