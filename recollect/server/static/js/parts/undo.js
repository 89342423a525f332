// Undoing an operation, with a message that says how it went.
import * as daemon from "../daemon.js";
import { toast, toastError } from "./toast.js";

export async function undo(operation, after) {
  try {
    await daemon.undo(operation);
    toast("Undone.");
    after();
  } catch (error) {
    toastError(error);
  }
}
