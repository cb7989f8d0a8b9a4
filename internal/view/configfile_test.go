package view_test

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/view"
	"kolla.openstack.org/kolla/lang"
)

func origin(layer, file string, line int) lang.Origin {
	return lang.Origin{Layer: layer, Range: hcl.Range{Filename: file, Start: hcl.Pos{Line: line}}}
}

func configExplained(p *view.Printer) {
	const catalogue = "<catalogue>/keystone.hcl"
	secret := lang.Text{{Literal: "mysql://keystone:"}, {Secret: &lang.SecretRef{Service: "keystone", Secret: "db-keystone", Key: "password"}}, {Literal: "@mariadb.openstack:3306/keystone"}}
	_ = p.ExplainConfig("keystone", lang.ConfigFile{
		Name: "keystone.conf", Format: "ini", Path: "/etc/keystone/keystone.conf", SecretPath: "/etc/keystone/keystone.conf.d/secrets.conf",
		Options: []lang.Option{
			{
				Section: "DEFAULT", Key: "debug", Values: []lang.Text{lang.Plain("true")}, Origin: origin("service", "cloud.hcl", 141),
				Overrides: []lang.Override{
					{Origin: origin("directory", "config/keystone.conf", 2), Text: "", Known: true},
					{Origin: origin("cloud", "cloud.hcl", 7), Text: "false", Known: true},
					{Origin: origin("definition", catalogue, 34)},
				},
			},
			{Section: "DEFAULT", Key: "default_log_levels", Values: []lang.Text{lang.Plain(strings.Repeat("sqlalchemy=WARN,", 20))}, Origin: origin("definition", catalogue, 39)},
			{Section: "DEFAULT", Key: "motd", Values: []lang.Text{lang.Plain("\x1b[31m")}, Origin: origin("service", "cloud.hcl", 142)},
			{
				Section: "database", Key: "connection", Values: []lang.Text{secret}, Origin: origin("service", "cloud.hcl", 143),
				Overrides: []lang.Override{{Origin: origin("definition", catalogue, 48)}},
			},
			{Section: "oslo_messaging", Key: "topics", Values: []lang.Text{lang.Plain("a"), lang.Plain("b")}, Origin: origin("directory", "config/keystone.conf", 12)},
		},
	})
}

func configExplainedRaw(p *view.Printer) {
	_ = p.ExplainConfig("keystone", lang.ConfigFile{Name: "policy.yaml", Format: "raw", Path: "/etc/keystone/policy.yaml", Origin: origin("service", "cloud.hcl", 12)})
}
