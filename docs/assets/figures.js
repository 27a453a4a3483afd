// Every figure opens large: with a click, or with the Enter key. A click or Escape closes it. What was drawn on white says so to the style sheet; pictures of a page are named report-* or demo-*.
document.addEventListener("DOMContentLoaded", () => {
  const dialog = document.createElement("dialog");
  dialog.className = "large md-typeset";
  dialog.setAttribute("aria-label", "A figure, enlarged");
  dialog.addEventListener("click", () => dialog.close());
  document.body.append(dialog);
  for (const image of document.querySelectorAll(".md-content img")) {
    image.classList.add("figure");
    image.classList.toggle("drawn", !/\/(?:report|demo)-[^/]*$/.test(image.src));
    image.tabIndex = 0;
    image.setAttribute("role", "button");
    const open = () => {
      const copy = image.cloneNode();
      copy.removeAttribute("tabindex");
      copy.removeAttribute("role");
      dialog.replaceChildren(copy);
      dialog.showModal();
    };
    image.addEventListener("click", open);
    image.addEventListener("keydown", (event) => event.key === "Enter" && open());
  }
});
