# Error bounds of R's package stabs: writes stabs.csv beside this script.
# Rscript stabs.R    (needs the package stabs; written by 0.6-4)

library(stabs)

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
cases <- expand.grid(
  cutoff = c(0.6, 0.75, 0.9), B = c(25, 50), q = c(2, 5, 10, 25), p = c(100, 1000)
)
# stabsel_parameters() prints three digits; its formula has all of them.
bound <- function(cutoff, B, q, p) {
  full <- q^2 / p / (2 * cutoff - 1)
  shown <- suppressWarnings(stabsel_parameters(
    p = p, cutoff = cutoff, q = q, B = B, assumption = "none", sampling.type = "SS", verbose = FALSE
  ))
  stopifnot(shown$PFER == signif(full, 3))
  full
}
cases$pfer <- sprintf("%.12g", with(cases, mapply(bound, cutoff, B, q, p)))
write.csv(cases[c("p", "q", "B", "cutoff", "pfer")], file.path(here, "stabs.csv"), row.names = FALSE, quote = FALSE)
