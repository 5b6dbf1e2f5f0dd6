// The index is being made: say how far it is, and show the results when it is there.
import { get } from "./api.js";
import { byId } from "./dom.js";
import { until } from "./organise.js";

void until(async () => {
  const now = await get("/development/search/state");
  byId("making-says").textContent = now.says;
  if (now.state === "making") return false;
  location.reload();
  return true;
});
