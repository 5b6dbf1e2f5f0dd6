// The page of all components.
import { byId } from "./dom.js";
import { confirmed } from "./forms.js";
import { keyFor, register } from "./keys.js";

let times = 0;
function count() {
  times += 1;
  byId("times").textContent = String(times);
}

const label = () => (byId("count-key").textContent = keyFor("components.count"));
byId("count").addEventListener("click", count);
byId("ask").addEventListener("click", () => void confirmed("Remove this example?", "Remove"));
register("components.count", "c", "Count one", count);
register("components.reset", "0", "Start over", () => {
  times = -1;
  count();
});
addEventListener("shortcuts-changed", label);
label();
