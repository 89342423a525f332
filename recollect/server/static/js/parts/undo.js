// Undoing an operation, with a message that says how it went.
import * as daemon from "../daemon.js";
import { attempt, toast } from "./toast.js";

export const undo = (operation, after) =>
  attempt(async () => {
    await daemon.undo(operation);
    toast("Undone.");
    after();
  });

// Makes a change, says so, and offers to undo it.
export const undoable = (work, words, again) =>
  attempt(async () => {
    const done = await work();
    toast(words, { act: () => undo((done.operation ?? done).op_id, again) });
    again();
  });
