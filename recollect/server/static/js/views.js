// The views in the order of the navigation: the name in the address, the title, the component, and
// the icon. One without an icon is reached from others only.
import { Beliefs } from "./views/beliefs.js";
import { Entity } from "./views/entity.js";
import { Memories } from "./views/memories.js";
import { Projects } from "./views/projects.js";
import { Sessions } from "./views/sessions.js";
import { Settings } from "./views/settings.js";
import { ThisWeek } from "./views/week.js";
import { Why } from "./views/why.js";

export const VIEWS = [
  ["week", "This week", ThisWeek, "M4 6h16v14H4zM4 10h16M8 3v4M16 3v4"],
  ["beliefs", "Beliefs", Beliefs, "M6 3h12v18l-6-4.5L6 21zM9 9.5l2 2 4-4"],
  ["memories", "Memories", Memories, "M4 5h16M4 12h16M4 19h10"],
  ["sessions", "Sessions", Sessions, "M4 5h16v11H9l-5 4z"],
  ["projects", "Projects", Projects, "M3 6h6l2 2h10v11H3zM3 11h18"],
  [
    "why",
    "Why",
    Why,
    "M9.1 9a3 3 0 1 1 4.4 2.6c-.9.5-1.5 1-1.5 2.1M12 17.5v.01" +
      "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z",
  ],
  ["settings", "Settings", Settings, "M4 7h10M18 7h2M4 17h2M10 17h10M16 5v4M8 15v4"],
  ["entity", "Entity", Entity, ""],
];
export const LISTED = VIEWS.filter(([, , , icon]) => icon);
