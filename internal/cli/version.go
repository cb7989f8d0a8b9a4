package cli

import (
	"fmt"
	"io"
	"runtime"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/notices"
)

// Version of this build; the Makefile sets it with -ldflags -X.
var Version = "0.1.0-dev"

// terraformVersion is the release of Terraform whose options and JSON kolla's are like. Its
// clients ask for it before they use them.
const terraformVersion = "1.14.0"

// versionJSON is what `terraform version -json` prints, and the version of kolla.
type versionJSON struct {
	Kolla     string   `json:"kolla_version"`
	Terraform string   `json:"terraform_version"`
	Platform  string   `json:"platform"`
	Providers struct{} `json:"provider_selections"`
	Outdated  bool     `json:"terraform_outdated"`
}

func versionCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "Print the version",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print JSON in the shape of Terraform's"},
			&cli.BoolFlag{Name: "notices", Usage: "print the licences of what kolla is made of"},
		},
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			if c.Bool("notices") {
				_, err := io.WriteString(s.out, notices.Text)
				return err
			}
			if c.Bool("json") {
				return s.writeJSON(versionJSON{Version, terraformVersion, runtime.GOOS + "_" + runtime.GOARCH, struct{}{}, false})
			}
			s.printVersion()
			return nil
		},
	}
}

func (s streams) printVersion() {
	fmt.Fprintf(s.out, "kolla %s (%s, %s/%s)\n", Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
