/**
 * The theme: that of the system, or the one chosen with the switch.
 *
 * A plain script in the head, because the theme must be set before the page is first drawn.
 */
(() => {
  const KEY = "aiopslab-theme";
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  /** Return the stored choice, or an empty text. */
  function readChoice() {
    try {
      return localStorage.getItem(KEY) || "";
    } catch {
      return ""; // storage may be switched off
    }
  }

  /** Apply the chosen theme, or the system's. */
  function apply() {
    const theme = readChoice() || (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = theme;
    const button = document.getElementById("theme");
    if (button) {
      const other = theme === "dark" ? "light" : "dark";
      button.textContent = theme === "dark" ? "☀" : "☾";
      button.setAttribute("aria-label", `Switch to the ${other} theme`);
      button.title = `Switch to the ${other} theme`;
    }
    document.dispatchEvent(new CustomEvent("themechange"));
  }

  /** Choose the other theme. */
  function toggle() {
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // the choice then lasts until the page is left
    }
    apply();
  }

  apply();
  dark.addEventListener("change", apply);
  document.addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme").addEventListener("click", toggle);
    apply();
  });
})();
