package lang

var defaultsType = &BlockType{
	Name: "defaults", Single: true,
	Doc:    "Overrides for every service.",
	Blocks: []*BlockType{defaultConfigType, patchType},
}

var defaultConfigType = &BlockType{
	Name: "config", Label: "file name or pattern", LabelForm: formGlob,
	Doc: "Values for all config files, of any service, whose name matches. Values in sections go to ini files, values without to properties files. They are evaluated for each service; self is the service.",
	Example: `cloud "prod" {
  release = "2025.1"

  defaults {
    config "*.conf" {
      values = {
        DEFAULT = { debug = false, log_color = self.name == "keystone" }
      }
    }
  }
}
`,
	Attributes: []Attribute{
		{Name: "values", Type: TypeSettings, Required: true, Doc: "Merged over the definitions' values and under the services'."},
	},
}
