// Where a judging screen is: its address names the question and the item, so that loading it again comes back to them.

/** The item that the address asks for; 0 or not a number where it asks for none. */
export function asked() {
  return Number(new URL(location.href).searchParams.get("item"));
}

/**
 * Have the address name what is shown.
 * @param {number} assignment
 * @param {number} item
 */
export function show(assignment, item) {
  const address = new URL(location.href);
  address.pathname = `/judge/${assignment}`;
  address.searchParams.set("item", String(item));
  history.replaceState(null, "", address);
}

/**
 * Go to another page.
 * @param {string} address
 */
export function go(address) {
  location.assign(address);
}

/** Going back in the browser shows the earlier view. */
export function watch() {
  addEventListener("popstate", () => location.reload());
}
