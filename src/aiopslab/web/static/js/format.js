/** Numbers, times and shares as people read them. */

/** Format a share from 0 to 1 as a percentage. */
export function percent(share, digits = 0) {
  return share === null || share === undefined ? "–" : `${(share * 100).toFixed(digits)}%`;
}

/** Format a duration in seconds with a fitting unit. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds === 0) return "0 s";
  if (seconds < 0.001) return `${(seconds * 1e6).toFixed(0)} µs`;
  if (seconds < 1) return `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** Format seconds since the session began as minutes and seconds. */
export function clock(seconds) {
  const whole = Math.round(Math.abs(seconds));
  return `${seconds < 0 ? "−" : ""}${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** Return the time of day of a date and time. */
export function timeOfDay(text) {
  return String(text || "").slice(11, 19);
}

/** Format a date of the host's clock, in seconds since 1970. */
export function date(seconds) {
  return seconds ? new Date(seconds * 1000).toLocaleString() : "–";
}

/** Format a number with at most the given digits, without trailing zeros. */
export function number(value, digits = 2) {
  if (value === null || value === undefined) return "–";
  return typeof value === "number" ? Number(value.toFixed(digits)).toLocaleString("en") : String(value);
}

/** Return the word for a verdict. */
export function verdict(success) {
  if (success === true) return "solved";
  return success === false ? "not solved" : "no verdict";
}

/** Return the class of a severity or a share of errors. */
export function level(share) {
  if (share >= 0.25) return "bad";
  return share >= 0.05 ? "warn" : "good";
}
