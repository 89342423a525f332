// Dark, light, or what the system says.
import { effect, signal } from "./html.js";

const system = matchMedia("(prefers-color-scheme: dark)");
export const choice = signal(read());
export const theme = signal("light");

function read() {
  try {
    return localStorage.getItem("theme") ?? "system";
  } catch {
    return "system";
  }
}
const settle = () =>
  (theme.value =
    choice.value === "system" ? (system.matches ? "dark" : "light") : choice.value);
system.addEventListener("change", settle);
effect(() => {
  settle();
  document.documentElement.dataset.theme = theme.value;
  try {
    localStorage.setItem("theme", choice.value);
  } catch {
    // A browser that keeps nothing follows the system next time.
  }
});
