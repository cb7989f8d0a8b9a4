package tables

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/lang/configs"
)

// Exposures prints a row for each port that is reachable from outside, and for
// each exposure without such a port.
func Exposures(out io.Writer, config *configs.Config) error {
	if len(config.Exposures) == 0 {
		fmt.Fprintln(out, "Nothing is reachable from outside: the configuration has no exposure.")
		return nil
	}
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "EXPOSURE\tMODE\tVIP\tFQDN\tSERVICE\tPORT\tNODE PORT")
	for _, x := range config.Exposures {
		vip, fqdn := cmp.Or(x.VIP, "-"), cmp.Or(x.FQDN, "-")
		empty := true
		for _, service := range config.Services {
			for _, p := range service.Ports {
				if service.Exposure != x.Name || !p.Exposed {
					continue
				}
				empty = false
				nodePort := "not fixed"
				switch {
				case x.Mode != configs.ModeNodePort:
					nodePort = "-"
				case p.NodePort != 0:
					nodePort = fmt.Sprint(p.NodePort)
				}
				entry := x.Entry(service.Name, service.Ports, p)
				number := fmt.Sprint(entry.Port)
				if p.UDP {
					number += "/udp"
				}
				if x.Domain != "" {
					fqdn = entry.Host
				}
				foreign.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", x.Name, x.Mode, vip, fqdn, service.Name, number, nodePort)
			}
		}
		if empty {
			foreign.Fprintf(table, "%s\t%s\t%s\t%s\t-\t-\t-\n", x.Name, x.Mode, vip, fqdn)
		}
	}
	return table.Flush()
}

// ConfigFiles lists the config files of a service.
func ConfigFiles(out io.Writer, service *configs.Service) error {
	if len(service.Configs) == 0 {
		why := "."
		if service.External {
			why = ": it is external, and nothing of it is deployed."
		}
		foreign.Fprintf(out, "Service %q has no config files%s\n", service.Name, why)
		return nil
	}
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "FILE\tFORMAT\tVALUES\tPATH")
	for _, file := range service.Configs {
		values := "-"
		if file.Format != "raw" {
			values = fmt.Sprint(len(file.Options))
		}
		foreign.Fprintf(table, "%s\t%s\t%s\t%s\n", file.Name, file.Format, values, file.Path)
	}
	return table.Flush()
}
