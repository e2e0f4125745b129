# What R's coxph() says: writes coxph.csv (a row per coefficient), coxph_fits.csv (a row per model)
# and coxph_hazard.csv (cumulative hazards where all numbers and the offset are 0) beside this script.
# Rscript coxph.R    (needs the package survival; reads benchmarks/data/survival)
#
# Efron's ties unless the model says otherwise. Rows with a missing value in the model's columns are
# left out. Where a model has weights or a late entry the columns are made here, by rules that any
# reader can repeat: weight = 1 + (row mod 3) (rows from 1 as in the file), entry = floor(time / 4)
# where the row is even and 0 elsewhere, site = row mod 4.

suppressMessages(library(survival))
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
read_set <- function(name) {
  data <- read.csv(file.path(here, "..", "..", "benchmarks", "data", "survival", paste0(name, ".csv")),
                   stringsAsFactors = TRUE, na.strings = "")
  names(data)[ncol(data)] <- "event"
  row <- seq_len(nrow(data))
  transform(data, weight = 1 + row %% 3, entry = ifelse(row %% 2 == 0, time %/% 4, 0), site = row %% 4)
}
sets <- sapply(c("lung", "veteran", "pbc", "gbsg2", "whas500"), read_set, simplify = FALSE)

lung <- "age + sex + ph_ecog + ph_karno + wt_loss"
gbsg2 <- "horTh + age + menostat + tsize + tgrade + pnodes + progrec + estrec"
now <- "Surv(time, event)"
late <- "Surv(entry, time, event)"
models <- list(
  list("lung", now, lung),
  list("lung", now, lung, ties = "breslow"),
  list("lung", now, lung, weights = TRUE),
  list("lung", now, lung, cluster = "inst"),
  list("lung", now, paste(lung, "+ strata(site)")),
  list("lung", late, lung),
  list("lung", late, paste(lung, "+ strata(site)"), weights = TRUE, cluster = "inst"),
  list("veteran", now, "trt + celltype + karno + diagtime + age + prior"),
  list("veteran", now, "trt + karno + diagtime + age + prior + strata(celltype)"),
  list("veteran", late, "trt + celltype + karno", weights = TRUE),
  list("gbsg2", now, gbsg2),
  list("gbsg2", now, paste(gbsg2, "- tgrade + strata(tgrade)")),
  list("gbsg2", late, gbsg2),
  list("gbsg2", now, gbsg2, weights = TRUE, cluster = "site"),
  list("pbc", now, "age + sex + edema + log(bili) + albumin + log(protime)"),
  list("pbc", now, "trt + age + ascites + spiders + edema + bili + copper + stage"),
  list("whas500", now, "age + gender + hr + sysbp + diasbp + bmi + cvd + afb + sho + chf + av3 + miord + mitype"),
  list("whas500", now, "age + gender + hr + bmi + chf + offset(0.02 * age)")
)

coefficients <- fits <- hazards <- list()
for (number in seq_along(models)) {
  model <- models[[number]]
  data <- sets[[model[[1]]]]
  ties <- if (is.null(model$ties)) "efron" else model$ties
  formula <- as.formula(paste(model[[2]], "~", model[[3]]))
  if (!is.null(model$cluster)) data <- data[!is.na(data[[model$cluster]]), ]
  call <- list(formula, data, ties = ties, control = coxph.control(eps = 1e-14, toler.chol = 1e-15, iter.max = 50))
  if (!is.null(model$weights)) call$weights <- data$weight
  plain <- do.call(coxph, c(call, robust = FALSE))
  cluster <- if (is.null(model$cluster)) NULL else data[[model$cluster]]
  robust <- do.call(coxph, c(call, if (is.null(cluster)) list(robust = TRUE, cluster = seq_len(nrow(data)))
                                   else list(cluster = cluster)))
  stopifnot(all.equal(coef(plain), coef(robust)))
  coefficients[[number]] <- data.frame(
    model = number, term = names(coef(plain)), estimate = unname(coef(plain)),
    std_error = sqrt(diag(plain$var)), robust_error = sqrt(diag(robust$var))
  )
  fits[[number]] <- data.frame(
    model = number, set = model[[1]], formula = paste(model[[2]], "~", model[[3]]), ties = ties,
    weights = if (is.null(model$weights)) "" else "weight",
    cluster = if (is.null(model$cluster)) "" else model$cluster,
    rows = plain$n, events = plain$nevent, loglik_null = plain$loglik[1], loglik = plain$loglik[2],
    score_test = plain$score, concordance = unname(plain$concordance["concordance"])
  )
  hazard <- basehaz(plain, centered = FALSE)    # by the ties of the model: Efron's here
  if (is.null(hazard$strata)) hazard$strata <- ""
  shown <- unlist(tapply(seq_len(nrow(hazard)), hazard$strata,
                         function(rows) rows[unique(round(seq(1, length(rows), length.out = 8)))]))
  at_same <- do.call(coxph, c(modifyList(call, list(ties = "breslow", control = coxph.control(iter.max = 0))),
                              list(init = coef(plain))))
  by_breslow <- basehaz(at_same, centered = FALSE)
  offset <- model.offset(model.frame(formula, data))
  at_zero <- if (is.null(offset)) 1 else exp(-mean(offset))    # basehaz() is at its mean
  hazards[[number]] <- data.frame(
    model = number, stratum = hazard$strata[shown], time = hazard$time[shown],
    efron = hazard$hazard[shown] * at_zero, breslow = by_breslow$hazard[shown] * at_zero
  )
}
write <- function(parts, name) {
  frame <- do.call(rbind, parts)
  numeric <- sapply(frame, is.double)
  frame[numeric] <- lapply(frame[numeric], function(x) as.numeric(sprintf("%.12g", x)))
  write.csv(frame, file.path(here, name), row.names = FALSE, quote = sapply(frame, is.character) |> which())
}
write(coefficients, "coxph.csv")
write(fits, "coxph_fits.csv")
write(hazards, "coxph_hazard.csv")
