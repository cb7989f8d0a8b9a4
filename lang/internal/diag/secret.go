package diag

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// unquoted marks diagnostics about lines that contain a secret.
type unquoted struct{}

// Quotable reports whether output may show the source lines of a diagnostic. It may not
// if they contain a secret.
func Quotable(d *hcl.Diagnostic) bool {
	_, secret := hcl.DiagnosticExtra[unquoted](d)
	return !secret
}

// Hide keeps a range of the source out of all output.
func (r *Reporter) Hide(at hcl.Range) { r.all.hidden = append(r.all.hidden, at) }

// Mask replaces the hidden ranges of the files by asterisks. It keeps line breaks, so that
// the numbers of lines stay right.
func (r *Reporter) Mask(files map[string]*hcl.File) {
	for _, at := range r.all.hidden {
		file := files[at.Filename]
		if file == nil || at.End.Byte > len(file.Bytes) {
			continue
		}
		masked := *file
		masked.Bytes = slices.Clone(file.Bytes)
		for i := at.Start.Byte; i < at.End.Byte; i++ {
			if masked.Bytes[i] != '\n' && masked.Bytes[i] != '\r' {
				masked.Bytes[i] = '*'
			}
		}
		files[at.Filename] = &masked
	}
}

// WarnUnquoted reports a warning about a line that output must not quote.
func (r *Reporter) WarnUnquoted(subject hcl.Range, summary, detail string) {
	r.Report(hcl.DiagWarning, unquoted{}, subject, summary, detail)
}
