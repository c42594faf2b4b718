/** Draws one note of a list, in the look of the app's own suggestions. */

import type { Hit, Span } from '../../../protocol/protocol';
import { segments, whyAtLength, whyFound } from '../state/highlight';
import { folderOf } from '../state/naming';

export function drawMatches(el: HTMLElement, text: string, spans: readonly Span[] = []): void {
  for (const part of segments(text, spans)) {
    if (part.match) el.createSpan({ cls: 'suggestion-highlight', text: part.text });
    else el.appendText(part.text);
  }
}

export interface HitLook {
  /** Show the passage that fits. */
  preview: boolean;
}

export function drawHit(el: HTMLElement, hit: Hit, look: HitLook): void {
  el.addClass('suggestion-item', 'mod-complex', 'vaultrag-hit');
  if (hit.stale) el.addClass('is-stale');
  const content = el.createDiv({ cls: 'suggestion-content' });
  drawMatches(content.createDiv({ cls: 'suggestion-title' }), hit.title, hit.title_spans);
  if (hit.name) {
    const name = content.createDiv({ cls: 'suggestion-note vaultrag-name', text: `${hit.name_kind}: ` });
    drawMatches(name, hit.name, hit.name_spans);
  }
  const heading = hit.heading === hit.title ? '' : hit.heading;
  const place = [folderOf(hit.path), heading].filter(Boolean).join(' › ');
  if (place) content.createDiv({ cls: 'suggestion-note vaultrag-place', text: place });
  const snippet = hit.preview || hit.line;
  if (look.preview && snippet) {
    drawMatches(content.createDiv({ cls: 'suggestion-note vaultrag-snippet' }), snippet, hit.preview ? hit.spans : []);
  }
  if (hit.tags.length) {
    const tags = content.createDiv({ cls: 'vaultrag-tags' });
    for (const tag of hit.tags.slice(0, 6)) tags.createSpan({ cls: 'tag', text: `#${tag}` });
  }
  const aux = el.createDiv({ cls: 'suggestion-aux' });
  if (hit.tier === 'weak') el.addClass('is-weak');
  if (hit.tier !== 'partial') aux.createSpan({ cls: 'suggestion-flair vaultrag-tier', text: hit.tier });
  const why = whyFound(hit.evidence);
  if (why) {
    aux.createSpan({ cls: 'suggestion-flair vaultrag-why', text: why, attr: { title: whyAtLength(hit.evidence) } });
  }
  if (hit.stale) aux.createSpan({ cls: 'suggestion-flair', text: 'changed since' });
}
