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

// Makes a change, says so, and offers to undo it.
export async function undoable(work, words, again) {
  try {
    const done = await work();
    toast(words, { act: () => undo((done.operation ?? done).op_id, again) });
    again();
  } catch (error) {
    toastError(error);
  }
}
