// Judging whether the contexts of a free-text answer support it.
import { freeTextScreen } from "../free_text.js";

freeTextScreen("contexts", { gold: false });
