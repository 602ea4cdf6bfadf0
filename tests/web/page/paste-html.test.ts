// @vitest-environment happy-dom
// The text of a clipboard that holds HTML alone.
import { expect, it } from "vitest";
import { textOfHtml } from "../../../web/page/document/paste-html.js";

it.each([
  ["<p>One</p><p>Two</p>", "One\nTwo"],
  ["One<br>Two", "One\nTwo"],
  ["<b>One</b> and\n   <i>two</i>", "One and two"],
  ["<ul><li>One</li><li>Two</li></ul>", "One\nTwo"],
  ["<div>One<div>Two</div></div>", "One\nTwo"],
  ["One<script>alert(1)</script><style>p{}</style>", "One"],
  ["<table><caption>T</caption><tr><th>a</th>\n<th>b</th></tr><tr><td>c<td>d</table>", "T\na\tb\nc\td"],
  ["<table><tr> <td></td> <td><p>a</p><p>b</p></td> </tr></table>e", "\ta b\ne"],
  ["<img src=x onerror=alert(1)>", ""],
  ["", ""],
])("the HTML %s pastes as %j", (html, text) => {
  expect(textOfHtml(html)).toBe(text);
});
