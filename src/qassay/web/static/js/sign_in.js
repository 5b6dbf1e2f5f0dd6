// Signing in. A link from elsewhere arrives without our cookie (SameSite=Strict): whoever is signed in goes on at once.
import { get } from "./api.js";
import { followSignOn } from "./single_sign_on.js";

followSignOn();
const form = document.getElementById("sign-in");
const then = form?.dataset.then;
get("/account").then(
  () => then && location.replace(then),
  () => {}, // not signed in: that is what the page is for
);
