// A CKA matrix as a heat-map, the first layers at the bottom left as in the book's figures.

/** Grid of a map in a panel; a panel of height ckaMapHeight(width) makes it square.
 *  @param {number} width @param {number} height @param {number[]} shape @returns {Cells} */
const ckaCells = (width, height, [rows, columns]) => ({ x: 34, y: 30, width: width - 48, height: height - 138, rows, columns, upward: true });
/** @param {number} width */
const ckaMapHeight = width => width + 90;

/** What the text says of a CKA value: undefined where a layer is the same for all images. @param {Record<string, any>} t @param {number} value @returns {string} */
const ckaText = (t, value) => Number.isNaN(value) ? t.undefined : fixed(value);

/** The map with the chosen cell, and the hovered one if there is one; `pointer` also points at the chosen row.
 *  @param {CanvasRenderingContext2D} g @param {Ink} ink @param {Cells} cells @param {{ values: Unpacked, row: number, column: number,
 *    hover?: { row: number, column: number } | null, pointer?: boolean, xLabel: string, yLabel: string }} map */
function drawCkaMap(g, ink, cells, { values, row, column, hover = null, pointer = false, xLabel, yLabel }) {
  drawCells(g, ink, cells, (r, c) => values.get(r, c));
  drawAxes(g, { ...ink, line: "transparent" }, cells, indexAxis(cells.columns, xLabel), indexAxis(cells.rows, yLabel));
  if (pointer) {
    const { y, height } = cellBox(cells, row, column), tip = [cells.x + cells.width + 3, y + height / 2];
    fillShape(g, ink.text, [tip, [tip[0] + 10, tip[1] - 6], [tip[0] + 10, tip[1] + 6]]);
  }
  markCell(g, cells, row, column);
  if (hover) markCell(g, cells, hover.row, hover.column, "#f0884f");
  drawLegend(g, ink, { x: cells.x, y: cells.y + cells.height + 76, width: cells.width, low: "0", high: "1", label: "CKA" });
}
