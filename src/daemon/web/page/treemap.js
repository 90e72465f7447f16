/** Lays files out as rectangles, in those of their folders. Numbers in, numbers out. */

const HEADER = 15;
const GAP = 1.5;

/** Returns the tree of folders of some paths. A folder with only one folder in it is one with it. */
export function tree(files) {
  const root = { name: "", path: "", children: new Map(), weight: 0 };
  for (const file of files) {
    let node = root;
    node.weight += file.weight;
    const names = file.path.split("/");
    for (const name of names.slice(0, -1)) {
      const path = node.path ? node.path + "/" + name : name;
      if (!node.children.has(name + "/")) node.children.set(name + "/", { name, path, children: new Map(), weight: 0 });
      node = node.children.get(name + "/");
      node.weight += file.weight;
    }
    node.children.set(names[names.length - 1], { ...file, name: names[names.length - 1] });
  }
  return joined(root);
}

function joined(node) {
  if (!node.children) return node;
  let children = [...node.children.values()].map(joined);
  if (node.path !== "" && children.length === 1 && children[0].children) {
    const [only] = children;
    return { ...only, name: node.name + "/" + only.name };
  }
  children = children.sort((a, b) => b.weight - a.weight);
  return { ...node, children };
}

/** Returns the folders that get a colour: those at the top, and in the place of one that has nearly half of all, those in it. */
export function groups(root) {
  const foldersIn = (node) => node.children.filter((child) => child.children);
  const all = foldersIn(root);
  const found = [root.path];
  while (all.length > 0) {
    const node = all.shift();
    found.push(node.path);
    if (node.weight > 0.45 * root.weight) all.unshift(...foldersIn(node));
  }
  return found;
}

/** Returns `{folders, tiles}`, each with `x y w h`, for a tree in a rectangle. */
export function layout(root, width, height) {
  const shown = { folders: [], tiles: [] };
  place(root.children, { x: 0, y: 0, w: width, h: height }, 1, shown);
  return shown;
}

function place(nodes, area, depth, shown) {
  for (const [node, box] of squarify(nodes, area)) {
    if (!node.children) {
      shown.tiles.push({ ...node, ...box });
      continue;
    }
    const hasHeader = depth <= 3 && box.h > HEADER * 2.2 && box.w > 36;
    shown.folders.push({ ...node, ...box, depth, hasHeader });
    const inner = { x: box.x + GAP, y: box.y + (hasHeader ? HEADER : GAP), w: box.w - 2 * GAP, h: box.h - GAP - (hasHeader ? HEADER : GAP) };
    if (inner.w > 2 && inner.h > 2) place(node.children, inner, depth + 1, shown);
  }
}

/**
 * Divides a rectangle by weight into ones that are nearly squares.
 *
 * Bruls, Huizing, van Wijk: Squarified Treemaps, 2000.
 */
export function squarify(nodes, area) {
  const total = nodes.reduce((sum, node) => sum + node.weight, 0);
  const scale = (area.w * area.h) / total;
  const boxes = [];
  let { x, y, w, h } = area;
  let row = [];
  const worst = (row, side) => {
    const sum = row.reduce((sum, node) => sum + node.weight * scale, 0);
    const sizes = row.map((node) => node.weight * scale);
    return Math.max((side * side * Math.max(...sizes)) / (sum * sum), (sum * sum) / (side * side * Math.min(...sizes)));
  };
  const lay = () => {
    const sum = row.reduce((sum, node) => sum + node.weight * scale, 0);
    const isTall = w >= h;
    const thickness = sum / (isTall ? h : w);
    let at = 0;
    for (const node of row) {
      const length = (node.weight * scale) / thickness;
      boxes.push([node, isTall ? { x, y: y + at, w: thickness, h: length } : { x: x + at, y, w: length, h: thickness }]);
      at += length;
    }
    if (isTall) [x, w] = [x + thickness, w - thickness];
    else [y, h] = [y + thickness, h - thickness];
    row = [];
  };
  for (const node of nodes) {
    const side = Math.min(w, h);
    if (row.length > 0 && worst([...row, node], side) > worst(row, side)) lay();
    row.push(node);
  }
  if (row.length > 0) lay();
  return boxes;
}
