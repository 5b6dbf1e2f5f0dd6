// The button of single sign-on: the server says where to go.

/** Go where the answer to the form says. */
export function followSignOn() {
  document.getElementById("single-sign-on")?.addEventListener("done", (event) => {
    if (event instanceof CustomEvent) location.assign(event.detail.address);
  });
}
