// Every formula that pymdownx.arithmatex marked is typeset by KaTeX, which lies beside this file: \(...\) within a line, \[...\] on its own.
document.addEventListener("DOMContentLoaded", () => {
  for (const node of document.querySelectorAll(".arithmatex")) {
    const source = node.textContent.trim();
    katex.render(source.slice(2, -2), node, { displayMode: source.startsWith("\\["), throwOnError: false });
  }
});
