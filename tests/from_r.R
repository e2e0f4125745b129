# Run by test_from_r.py in an empty folder: a data.frame there and back, and results as data.frames.

source(Sys.getenv("FROM_R"))
treeselect <- import("treeselect", convert = FALSE)

n <- 60
i <- seq_len(n)
patients <- data.frame(
  died = factor(ifelse(i %% 4 == 0, "yes", "no")),
  site = factor(rep(c("Leeds", "Bath", NA), 20), levels = c("Leeds", "Bath", "Zurich")),
  stage = factor(rep(c("I", "II", "III"), each = 20), ordered = TRUE),
  kids = rep(c(0L, 2L, NA), 20),
  age = i / 7,
  smoker = rep(c(TRUE, FALSE, NA), 20),
  word = rep(c("a", "b\u00e9", NA), 20),
  nothing = NA,
  when = as.Date("2020-01-01") + i,
  at = as.POSIXct("2020-01-01 12:00:01", tz = "UTC") + i,
  row.names = paste0("p", i),
  stringsAsFactors = FALSE
)
patients$age[5] <- NA
patients$when[3] <- NA
patients$gap <- patients$at - min(patients$at)
attr(patients$age, "label") <- "Age (years)"

there <- to_python(patients)
back <- to_r(there)
same <- setdiff(names(patients), c("age", "when", "gap", "at"))
stopifnot(
  identical(back[same], patients[same]),
  identical(back$age, as.numeric(patients$age)),
  identical(as.Date(back$when), patients$when),
  all(back$at == patients$at),
  identical(back$gap, as.numeric(patients$gap)),
  identical(rownames(to_r(to_python(data.frame(x = 1:2)))), c("1", "2"))
)

fit <- treeselect$select(
  "died ~ . - when - at", there, method = "rrf", n_trees = 5L, k = 3L, seed = 1L,
  groups = list(habits = list("smoker", "kids")), keep = list("age")
)
tidy <- to_r(fit$tidy())
predicted <- to_r(fit$predict(to_python(patients[1:4, ])))
glance <- to_r(fit$glance())
stopifnot(
  is.data.frame(tidy), nrow(tidy) == 8, is.logical(tidy$selected), is.character(tidy$term),
  identical(names(predicted), c("p1", "p2", "p3", "p4")), is.numeric(predicted),
  identical(glance$n, 60L), is.character(to_r(fit$selected)), "age" %in% to_r(fit$selected),
  is.na(glance$cv_score), identical(rownames(to_r(fit$augment(there))), rownames(patients)),
  is.data.frame(to_r(fit$refit("glm")$tidy())),
  grepl("Age (years)", py_to_r(fit$summary()$as_text()), fixed = TRUE)
)
fit$report("patients.html")

message_of <- function(call) tryCatch({ call; "no error" }, error = conditionMessage)
stopifnot(
  grepl("Did you mean `age`", message_of(treeselect$select("died ~ agee", there)), fixed = TRUE),
  grepl("class AsIs", message_of(to_python(data.frame(a = I(list(1, 2))))), fixed = TRUE)
)
cat(predicted, sep = "\n")
