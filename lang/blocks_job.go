package lang

var runsAttribute = Attribute{Name: "runs", Type: TypeString, Default: "change", OneOf: []string{"change", "release", "upgrade", "once"}, Doc: "When it runs again. change: when its image, its config or its secrets are other ones. release: when its image is another one. upgrade: as release, but not with the image that the service is deployed with first. once: never. One that failed runs again in any case; see [Jobs](#jobs)."}
