// Judging free-text answers with the labels of the task.
import { freeTextScreen } from "../free_text.js";

freeTextScreen("labels", { gold: true });
