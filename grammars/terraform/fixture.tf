# Where everything runs.
variable "region" {
  type    = string
  default = "eu-west-1"
}

variable "names" { default = ["a", "b"] }

locals {
  # The prefix of all names.
  prefix = "shop-${var.region}"
  tags = {
    team  = "web"
    owner = local.prefix
  }
}

provider "aws" {
  region = var.region
}

provider "aws" {
  alias  = "west"
  region = "us-west-2"
}

data "aws_ami" "base" {
  most_recent = true
  filter {
    name   = "name"
    values = ["${local.prefix}-*"]
  }
}

/* The bucket of the logs. */
resource "aws_s3_bucket" "logs" {
  for_each = toset(var.names)
  provider = aws.west
  bucket   = "${local.prefix}-logs-${each.key}"
  tags     = merge(local.tags, { "x" = "}" })
}

resource "aws_instance" "web" {
  ami       = data.aws_ami.base.id
  user_data = <<-EOT
    #!/bin/sh
    # resource "fake" "one" {
    aws s3 cp ${aws_s3_bucket.logs["a"].id} $${NOT_A_TEMPLATE}
  EOT
  depends_on = [module.vpc, aws_s3_bucket.logs]
}

module "vpc" {
  source    = "./modules/vpc"
  cidr      = "10.0.0.0/16"
  providers = { aws = aws.west }
}

output "bucket_id" {
  value = var.region == "x" ? aws_s3_bucket.logs["a"].id : module.vpc.subnet_id
}
