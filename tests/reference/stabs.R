# Error bounds of R's package stabs: writes stabs.csv beside this script.
# Rscript stabs.R    (needs the package stabs; written by 0.6-4)
#
# Where stabs has no bound (it stops) there is no row.

library(stabs)

# The bound for r-concave distributions is a maximum over a, from 0.00001 to 100,000 in its first
# interval, which stabs looks for on the scale of a with the usual tolerance of optimize(). `refined`
# is the same code with all of an interval searched, on the scale of log a.
search <- function(f, lower, upper, ..., maximum) {
  ends <- log(c(lower, upper))
  inside <- optimize(function(log_a) f(exp(log_a), ...), ends, maximum = TRUE, tol = 1e-9)$objective
  list(objective = max(inside, f(lower, ...), f(upper, ...)))
}
refined <- stabs:::D
environment(refined) <- list2env(list(optimize = search), parent = asNamespace("stabs"))
min_refined <- stabs:::minD
environment(min_refined) <- list2env(list(D = refined), parent = asNamespace("stabs"))
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
cases <- expand.grid(
  assumption = c("none", "r-concave"), cutoff = c(0.6, 0.75, 0.9), B = c(25, 50),
  q = c(2, 5, 10, 25), p = c(100, 1000), stringsAsFactors = FALSE
)
# stabsel_parameters() prints three digits; the functions that it calls have all of them.
bound <- function(assumption, cutoff, B, q, p) {
  by <- list(
    "none" = function() q^2 / p / (2 * cutoff - 1),
    "r-concave" = function() p * stabs:::minD(q, p, cutoff, B)
  )
  full <- tryCatch(by[[assumption]](), error = function(e) NA)
  if (is.na(full)) return(NA)
  shown <- suppressWarnings(stabsel_parameters(
    p = p, cutoff = cutoff, q = q, B = B, assumption = assumption, sampling.type = "SS", verbose = FALSE
  ))
  stopifnot(shown$PFER == signif(full, 3))
  full
}
cases$pfer <- do.call(mapply, c(list(bound), unname(as.list(cases[c("assumption", "cutoff", "B", "q", "p")]))))
concave <- cases$assumption == "r-concave" & !is.na(cases$pfer)
cases$refined <- cases$pfer
cases$refined[concave] <- with(cases[concave, ], mapply(function(q, p, cutoff, B) p * min_refined(q, p, cutoff, B), q, p, cutoff, B))
cases <- cases[!is.na(cases$pfer), c("p", "q", "B", "cutoff", "assumption", "pfer", "refined")]
for (name in c("pfer", "refined")) cases[[name]] <- sprintf("%.12g", cases[[name]])
write.csv(cases, file.path(here, "stabs.csv"), row.names = FALSE, quote = FALSE)
