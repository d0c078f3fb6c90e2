// Exports a description as a link or as files.

/** The address that opens the page with this text and control. */
export async function link(text, source) {
  const given = new Blob([JSON.stringify(source ? { text, source } : { text })]);
  const packed = await new Response(given.stream().pipeThrough(new CompressionStream("deflate-raw"))).arrayBuffer();
  const letters = btoa(String.fromCharCode(...new Uint8Array(packed)));
  const address = new URL(location.href);
  address.search = "";
  address.hash = letters.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return address.href;
}

/** HTML that shows a link's description in another page. */
export function embedding(address) {
  const shown = new URL(address);
  shown.search = "?embed";
  return `<iframe src="${shown.href}" width="720" height="640" title="narrows: flows at a bottleneck"></iframe>`;
}

/** The text and the control that an address holds; null if they can't be read. */
export async function readLink(hash) {
  try {
    const letters = atob(hash.slice(1).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const { text, source } = await new Response(unpacked).json();
    return typeof text === "string" ? { text, source: typeof source === "string" ? source : "" } : null;
  } catch {
    return null;
  }
}

/** A description's name as that of a file, which a shell takes as one word. */
export function fileName(name) {
  return String(name ?? "scenario").replace(/[^\p{L}\p{N}_.-]+/gu, "-").replace(/^[.-]+/, "") || "scenario";
}

export function download(name, content, type) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const anchor = Object.assign(document.createElement("a"), { href: address, download: name });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A table as CSV; a null is an empty cell. */
export function csv(table) {
  const names = Object.keys(table);
  const cell = (value) => {
    const text = value === null ? "" : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const rows = table[names[0]].map((_, row) => names.map((name) => cell(table[name][row])).join(","));
  return [names.join(","), ...rows, ""].join("\n");
}
