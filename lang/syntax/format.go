package syntax

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// Format gives the canonical form of a file: spacing and alignment as HCL has
// them, line breaks as on Unix, exactly one at the end. A source that is not
// valid is returned as it is.
func Format(src []byte) []byte {
	unix := bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	if noText("", unix, hcl.InitialPos) != nil || checkSyntax(hclsyntax.LexConfig)(unix, "", hcl.InitialPos) != nil {
		return src
	}
	if _, diags := hclwrite.ParseConfig(unix, "", hcl.InitialPos); diags.HasErrors() {
		return src
	}
	out := bytes.TrimRight(hclwrite.Format(unix), "\r\n\t ")
	if len(out) == 0 {
		return nil
	}
	return append(out, '\n')
}
