// A line chart on a canvas, in the colours of the page.

const PADDING = { left: 44, right: 10, top: 10, bottom: 24 };

/** Returns a number of at least `value` whose quarters have few digits. */
function niceAbove(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8].find((factor) => factor * power >= value) ?? 10);
}

export class Chart {
  constructor(canvas, { max, format, colour }) {
    this.canvas = canvas;
    this.max = max;
    this.format = format;
    this.colour = colour;
    this.points = [];
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
  }

  clear() {
    this.points = [];
    this.draw();
  }

  add(x, y) {
    this.points.push([x, y]);
    // From 2000 points on, drops every other point: more points than pixels show no more detail.
    if (this.points.length > 2000) this.points = this.points.filter((_, i) => i % 2 === 0);
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      this.draw();
    });
  }

  draw() {
    const { canvas } = this;
    const ratio = devicePixelRatio || 1;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const context = canvas.getContext('2d');
    context.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const right = Math.max(this.points.at(-1)?.[0] ?? 1, 10);
    const top = this.max ?? niceAbove(Math.max(...this.points.map((point) => point[1]), 0.1));
    const x = (value) => PADDING.left + (value / right) * (width - PADDING.left - PADDING.right);
    const y = (value) => height - PADDING.bottom - (value / top) * (height - PADDING.top - PADDING.bottom);

    context.font = '12px system-ui, sans-serif';
    context.strokeStyle = colour('--line');
    context.fillStyle = colour('--quiet');
    context.textBaseline = 'middle';
    for (let i = 0; i <= 4; ++i) {
      const value = (top * i) / 4;
      context.beginPath();
      context.moveTo(PADDING.left, y(value));
      context.lineTo(width - PADDING.right, y(value));
      context.stroke();
      context.textAlign = 'right';
      context.fillText(this.format(value), PADDING.left - 6, y(value));
    }
    context.textAlign = 'center';
    for (let i = 0; i <= 2; ++i) context.fillText(Math.round((right * i) / 2), x((right * i) / 2) - (i === 2 ? 12 : 0), height - 10);

    context.strokeStyle = colour(this.colour);
    context.lineWidth = 2;
    context.beginPath();
    for (const [px, py] of this.points) context.lineTo(x(px), y(Math.min(py, top)));
    context.stroke();
  }
}
