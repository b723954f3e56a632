import { LabIcon } from '@jupyterlab/ui-components';

/** Three nested loops, drawn with the theme's icon color. */
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 16 16">
  <g class="jp-icon3" fill="none" stroke="#616161" stroke-width="1.6" stroke-linecap="round">
    <path d="M2 2.5h12M5 6.2h9M8 9.9h6M11 13.5h3"/>
    <path d="M2 5.4v8.1h6.4" stroke-width="1.2"/>
  </g>
</svg>`;

/** The same for places that want the address of a picture. */
export const tvmlabIconUrl = `data:image/svg+xml,${encodeURIComponent(SVG)}`;

export const tvmlabIcon = new LabIcon({ name: 'tvmlab:loops', svgstr: SVG });
