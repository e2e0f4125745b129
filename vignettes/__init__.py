"""The vignettes: text sources, and the builder that runs them and writes one HTML file of each."""
