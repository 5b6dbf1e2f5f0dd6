// Signing in. A link from elsewhere arrives without our cookie (SameSite=Strict): people who are signed in go on at once.
import { ApiError, get } from "./api.js";
import { followSignOn } from "./single_sign_on.js";

followSignOn();
get(`/sign-in${location.search}`).catch((error) => {
  if (error instanceof ApiError && error.body?.goto) location.replace(error.body.goto);
});
