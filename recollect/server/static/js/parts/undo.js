// Undoing an operation, with a message that says how it went.
import * as daemon from "../daemon.js";
import { say, sorry } from "./toast.js";

export async function undo(operation, after) {
  try {
    await daemon.undo(operation);
    say("It is as it was before.");
    after();
  } catch (error) {
    sorry(error);
  }
}
