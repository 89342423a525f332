// Areas for files: folders inside folders, each as large as what was done in it. The same files
// always get the same places. 2,000 files take a few milliseconds.
const GAP = 2;
const LABEL = 15;

// The folders of paths; a folder with nothing but one folder in it is named together with it.
export function treeOf(files) {
  const root = { name: "", weight: 0, folders: new Map(), files: [] };
  for (const file of files) {
    const parts = file.path.split("/").filter(Boolean);
    let at = root;
    for (const name of parts.slice(0, -1)) {
      if (!at.folders.has(name))
        at.folders.set(name, { name, weight: 0, folders: new Map(), files: [] });
      at = at.folders.get(name);
    }
    at.files.push({ name: parts.at(-1) ?? file.path, weight: file.sessions + 1, file });
  }
  return weighed(root);
}

function weighed(node) {
  let folders = [...node.folders.values()].map(weighed);
  if (!node.files.length && folders.length === 1 && node.name) {
    const [only] = folders;
    return { ...only, name: `${node.name}/${only.name}` };
  }
  folders = folders.filter((one) => one.weight);
  const inside = [...folders, ...node.files].sort(
    (a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1),
  );
  const weight = inside.reduce((sum, one) => sum + one.weight, 0);
  return { name: node.name, weight, inside };
}

// The boxes of folders and files, outer ones first.
export function boxesOf(tree, width, height) {
  const boxes = [];
  place(tree, 0, 0, width, height, boxes);
  return boxes;
}

function place(node, x, y, w, h, boxes) {
  if (node.file) {
    boxes.push({ x, y, w, h, name: node.name, file: node.file });
    return;
  }
  const labelled = node.name && w > 50 && h > 40;
  if (node.name) boxes.push({ x, y, w, h, name: labelled ? node.name : "" });
  const edge = node.name && w > 8 && h > 8 ? GAP : 0;
  const top = labelled ? LABEL : edge;
  squarify(node.inside, x + edge, y + top, w - 2 * edge, h - top - edge, boxes);
}

// Rows of areas, as square as can be: one more is put into a row as long as that makes the worst
// of them more square.
function squarify(nodes, x, y, w, h, boxes) {
  let rest = nodes;
  while (rest.length && w > 0 && h > 0) {
    const total = rest.reduce((sum, one) => sum + one.weight, 0);
    const scale = (w * h) / total;
    const side = Math.min(w, h);
    let taken = 0;
    let sum = 0;
    let worst = Infinity;
    while (taken < rest.length) {
      const next = sum + rest[taken].weight;
      const ratio = worstOf(rest[0].weight, rest[taken].weight, next, scale, side);
      if (ratio > worst) break;
      worst = ratio;
      sum = next;
      taken += 1;
    }
    const thick = (sum * scale) / side;
    let along = 0;
    for (const node of rest.slice(0, taken)) {
      const long = (node.weight / sum) * side;
      if (w < h) place(node, x + along, y, long, thick, boxes);
      else place(node, x, y + along, thick, long, boxes);
      along += long;
    }
    if (w < h) [y, h] = [y + thick, h - thick];
    else [x, w] = [x + thick, w - thick];
    rest = rest.slice(taken);
  }
}

function worstOf(largest, smallest, sum, scale, side) {
  const area = (sum * scale) ** 2;
  const square = side ** 2;
  return Math.max((square * largest * scale) / area, area / (square * smallest * scale));
}
