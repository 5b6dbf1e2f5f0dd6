// The theme: light, dark, or that of the system. Loaded before the page is painted, so it is a plain script.
(() => {
  const KEY = "qassay-theme";
  const ORDER = ["system", "light", "dark"];
  const SIGNS = { system: "◐", light: "☀", dark: "☾" };
  const LABELS = { system: "system", light: "light", dark: "dark" };
  const system = matchMedia("(prefers-color-scheme: dark)");

  /** @returns {"system" | "light" | "dark"} */
  function chosen() {
    try {
      const stored = localStorage.getItem(KEY);
      return stored === "light" || stored === "dark" ? stored : "system";
    } catch {
      return "system"; // a browser that keeps nothing still shows the page
    }
  }

  function apply() {
    const theme = chosen();
    const dark = theme === "dark" || (theme === "system" && system.matches);
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    const button = document.getElementById("theme-switch");
    if (button) {
      button.textContent = SIGNS[theme];
      button.setAttribute("aria-label", `Theme: ${LABELS[theme]}. Change`);
      button.title = `Theme: ${LABELS[theme]}`;
    }
  }

  function next() {
    const theme = ORDER[(ORDER.indexOf(chosen()) + 1) % ORDER.length];
    try {
      if (theme === "system") localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, theme);
    } catch {
      document.documentElement.dataset.theme = theme === "dark" ? "dark" : "light";
      return;
    }
    apply();
  }

  apply();
  system.addEventListener("change", apply);
  addEventListener("storage", apply);
  addEventListener("DOMContentLoaded", () => {
    apply();
    document.getElementById("theme-switch")?.addEventListener("click", next);
  });
})();
